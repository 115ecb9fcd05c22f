-- Side by side: FOREIGN KEY role_binding_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: FOREIGN KEY group_member_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go

-- AlterTable
ALTER TABLE "environment" ADD COLUMN     "protected" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "role_binding" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "project_id" UUID,
    "environment_id" UUID,
    "user_id" UUID,
    "group_name" TEXT,
    "role" "role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "role_binding_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "group_member" (
    "user_id" UUID NOT NULL,
    "group_name" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "group_member_pkey" PRIMARY KEY ("user_id","group_name")
);

-- CreateIndex
CREATE INDEX "role_binding_user_id_organization_id_idx" ON "role_binding"("user_id", "organization_id");

-- CreateIndex
CREATE INDEX "role_binding_organization_id_group_name_idx" ON "role_binding"("organization_id", "group_name");

-- CreateIndex
CREATE INDEX "role_binding_project_id_idx" ON "role_binding"("project_id");

-- CreateIndex
CREATE INDEX "role_binding_environment_id_idx" ON "role_binding"("environment_id");

-- CreateIndex
CREATE INDEX "group_member_group_name_idx" ON "group_member"("group_name");

-- AddForeignKey
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_member" ADD CONSTRAINT "group_member_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_subject" CHECK (("user_id" IS NULL) <> ("group_name" IS NULL));
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_place" CHECK (
    ("environment_id" IS NULL OR "project_id" IS NOT NULL) AND ("user_id" IS NULL OR "project_id" IS NOT NULL));
ALTER TABLE "role_binding" ADD CONSTRAINT "role_binding_role" CHECK ("role" <> 'owner');

-- One role for each subject and place.
CREATE UNIQUE INDEX "role_binding_subject_place" ON "role_binding" (
    "organization_id", COALESCE("project_id", '00000000-0000-0000-0000-000000000000'),
    COALESCE("environment_id", '00000000-0000-0000-0000-000000000000'), COALESCE("user_id"::text, 'group ' || "group_name"));
